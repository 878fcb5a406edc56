import { Log, Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";
import { tableRoutes } from "../../apps/usher.mjs";
import { tell } from "./tell.mjs";

Log.setup({ level: undefined });
const hello = get(Path.root, { returns: Returns.text }, () => "Hello.");
const { port } = await serve([hello, ...tableRoutes(1000)], { host: "127.0.0.1", port: 0 });
tell(port);
