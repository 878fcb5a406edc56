import { App, Log, Path, Returns, get } from "usher-http";
import { invoke } from "./lambda.mjs";

Log.setup({ level: undefined });
const app = App.make([get(Path.root, { returns: Returns.text }, () => "Hello.")]);
await invoke(app.fetch);
