import { Log, get } from "usher-http";
import * as Path from "usher-http/path";
import * as Returns from "usher-http/returns";
import { worker } from "usher-http/workers";

Log.setup({ level: undefined });
export default worker([get(Path.root, { returns: Returns.text }, () => "Hello.")]);
