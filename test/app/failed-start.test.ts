/** What the works of a program log once its server could not start: nothing before the error of the start. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { App, Background, Dep, Path, Returns, get } from "usher-http";
import type { AppOptions, BackgroundType, FailedWork, Route } from "usher-http";
import { serve } from "usher-http/node";
import { lines } from "../support/logs.ts";
import { waitMs } from "../support/patience.ts";
import { runtimes } from "../support/runtimes.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
const store = Dep.ofResource<string>("store");
const reading = get(Path.of("reads"), { inputs: { store }, returns: Returns.text }, ({ store }) => store);

/** A work that raises, and the lines that it logs. */
async function raise(background: BackgroundType): Promise<readonly unknown[]> {
  const before = lines().length;
  background.start("the sweep", () => Promise.reject(new RangeError("closed")));
  expect(await background.settled(60_000)).toBe(0);
  return lines()
    .slice(before)
    .map(({ level, message }) => `${level} ${message}`);
}

describe("work of a program whose server could not start", () => {
  it.each<[why: string, start: (options: AppOptions) => unknown]>([
    ["its port is taken", (options) => onTakenPort([hello], options)],
    ["a resource is missing", (options) => serve([reading], { port: 0, ...options })],
    ["an option of the server is wrong", (options) => serve([hello], { port: -1, ...options })],
    ["an option of the app is wrong", (options) => App.make([hello], { ...options, maxAfter: -1 })],
  ])("logs nothing that is read before the error of the start: %s", async (_why, start) => {
    const failed: FailedWork[] = [];
    const background = Background.create({ onError: (_error, work) => void failed.push(work) });
    expect(await raise(background)).toEqual(["error the sweep raised"]);
    await expect((async () => start({ background }))()).rejects.toThrow(/taken|store|port|maxAfter/);
    expect(await raise(background)).toEqual([]);
    expect(failed).toHaveLength(2);
    // A program may take another port.
    const server = await serve([hello], { port: 0, background });
    expect(await raise(background)).toEqual(["error the sweep raised"]);
    await server.stop();
  });

  it("is that of the program alone whose server it is", async () => {
    const [background, other] = [Background.create(), Background.create()];
    await expect(serve([reading], { port: 0, background })).rejects.toThrow("store");
    expect(await raise(other)).toEqual(["error the sweep raised"]);
  });

  it.each([
    { runtime: "the newest Node", command: runtimes["node-newest"](), args: [] },
    { runtime: "Bun", command: runtimes.bun(), args: [] },
    { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A"] },
  ])("leaves the error of the start as the first line on $runtime", async ({ command, args }) => {
    const program = join(import.meta.dirname, "failed-start-program.ts");
    const options = { cwd: join(program, "../../.."), timeout: waitMs() };
    const { stderr, code } = await new Promise<{ readonly stderr: string; readonly code: unknown }>((resolve) => {
      execFile(command, [...args, program], options, (error, _out, stderr) => resolve({ stderr, code: error?.code }));
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/EADDRINUSE|is taken|in use/)]);
    expect(stderr).not.toContain("raised");
  });
});

/** Serves on a port on which another server listens. */
async function onTakenPort(routes: readonly Route[], options: AppOptions): Promise<void> {
  const first = await serve([hello], { port: 0 });
  onTestFinished(async () => void (await first.stop()));
  await serve(routes, { port: first.port, ...options });
}
