/** Prints what the log has of errors that this runtime makes. */
import process from "node:process";
import { logged } from "./real-errors.ts";
import type { Ports } from "./real-errors.ts";

const ports = JSON.parse(process.argv[2] ?? "") as Ports;
process.stdout.write(JSON.stringify(await logged(ports)), () => process.exit(0));
