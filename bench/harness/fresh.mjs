import { fork } from "node:child_process";
import { linkOwn } from "./packages.mjs";

linkOwn();

/**
 * Runs a module in a new process, so that earlier measurements do not affect its compiled code. Resolves with the message
 * that it sends.
 *
 * @param {URL} module
 * @param {readonly (string | number | boolean)[]} args
 * @param {{ execArgv?: string[], stderr?: "inherit" | "ignore" }} options
 * @returns {Promise<any>}
 */
export function fresh(module, args, { execArgv = [], stderr = "inherit" } = {}) {
  return new Promise((resolve, reject) => {
    const child = fork(module, args.map(String), { stdio: ["ignore", "ignore", stderr, "ipc"], execArgv });
    let figure;
    child.once("message", (message) => (figure = message));
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0 && figure !== undefined) resolve(figure);
      else reject(new Error(`${module.pathname} ${args.join(" ")} ended with ${code}`));
    });
  });
}
