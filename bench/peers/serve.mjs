/** Starts one of the apps, by its name, and prints its port. */
import { linkOwn } from "../harness/packages.mjs";

linkOwn();
const [name] = process.argv.slice(2);
const { start } = await import(name === "usher" ? "./usher.mjs" : `./others/${name}.mjs`);
console.log(await start());
