/** Writes what WebSockets of the typed client observe on the runtime that runs this file. */
import { spoken } from "./socket-acts.ts";

console.log(JSON.stringify(await spoken(process.argv[2] ?? "")));
