import { fork } from "node:child_process";

/**
 * Runs a module in a process of its own, where nothing measured before has shaped the compiler's choices; answers
 * the message it sends before it ends.
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
