import { fork } from "node:child_process";

/**
 * Runs a module in a process of its own, where nothing measured before has shaped the compiler's choices; answers the
 * first message it sends.
 *
 * @param {URL} module
 * @param {readonly (string | number | boolean)[]} args
 * @returns {Promise<any>}
 */
export function fresh(module, args) {
  return new Promise((resolve, reject) => {
    const child = fork(module, args.map(String), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.once("message", (message) => {
      resolve(message);
      child.kill();
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`${module.pathname} ${args.join(" ")} ended with ${code} and no figure`)),
    );
  });
}
