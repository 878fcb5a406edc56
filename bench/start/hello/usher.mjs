import { Log, Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";
import { tell } from "./tell.mjs";

// The others write no lines.
Log.setup({ level: undefined });
const { port } = await serve([get(Path.root, { returns: Returns.text }, () => "Hello.")], {
  host: "127.0.0.1",
  port: 0,
});
tell(port);
