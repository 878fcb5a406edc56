import { fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { linkOwn } from "../harness/packages.mjs";

linkOwn();

/** A child process that answers each message with one. */
export class Process {
  #child;

  /** @param {string} module @param {readonly string[]} args @param {{ stderr?: string | undefined, execArgv?: string[] }} options */
  constructor(module, args, { stderr, execPath = process.execPath, execArgv = [] } = {}) {
    const file = stderr === undefined ? "inherit" : openSync(stderr, "a");
    const stdio = /** @type {const} */ (["ignore", "ignore", file, "ipc"]);
    this.#child = fork(new URL(module, import.meta.url), args, { stdio: [...stdio], execPath, execArgv });
    if (typeof file === "number") closeSync(file);
  }

  /** The next message it sends. */
  next() {
    return new Promise((resolve, reject) => {
      const onMessage = (message) => {
        this.#child.off("exit", onExit);
        resolve(message);
      };
      const onExit = (code) => reject(new Error(`a process ended with ${code}`));
      this.#child.once("message", onMessage).once("exit", onExit);
    });
  }

  ask(message) {
    const answer = this.next();
    this.#child.send(message);
    return answer;
  }

  stop() {
    return new Promise((resolve) => {
      this.#child.once("exit", resolve);
      this.#child.send("stop");
    });
  }
}
