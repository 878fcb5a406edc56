import { Log, Path, Returns, get } from "usher-http";
import { worker } from "usher-http/workers";

Log.setup({ level: undefined });
export default worker([get(Path.root, { returns: Returns.text }, () => "Hello.")]);
