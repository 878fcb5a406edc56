/** Workers that run in workerd, each ended with the file that started it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { endsWithFile, endsWithTest } from "../../support/ends.ts";
import { came } from "../../support/eventually.ts";
import type { Line } from "../../support/logs.ts";
import { RawClient, leaveAll } from "../../support/raw-client.ts";
import { programMadeOnce } from "../../support/run-folder.ts";
import { runtimes } from "../../support/runtimes.ts";

const root = join(import.meta.dirname, "../../..");
const ends: (() => Promise<void>)[] = [];
endsWithTest(leaveAll);
endsWithFile(async () => {
  leaveAll();
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** How a Worker is set up. */
export interface Setup {
  /** Compatibility flags. */
  readonly flags?: readonly string[];
  readonly bindings?: { readonly [name: string]: string | boolean };
}

/** With `opentelemetry`, a folder, its imports of OpenTelemetry's packages are those of the folder. */
type Program = { readonly file: string } | { readonly contents: string; readonly opentelemetry?: string | undefined };

/** A Worker that runs. */
export interface Running {
  readonly pid: number;
  /** A client of it. */
  client(): Promise<RawClient>;
  /** What it has written so far, line by line. */
  readonly texts: readonly string[];
  /** Waits for a line that it logs, of a request's id; each counts once. */
  line(message: string, of?: string): Promise<Line>;
}

/** The folder whose modules a program has where it is to have the newest OpenTelemetry. */
export const newestOpenTelemetry: string = join(root, "test/telemetry/newest");

/** A program as a user's bundler leaves it, with the package as it was built. */
export async function bundle(program: Program): Promise<string> {
  if ("contents" in program) return bundleNow(program);
  // Several test files run the same file.
  const folder = await programMadeOnce(`workers+${program.file.replaceAll("/", "+")}`, async (own) => {
    writeFileSync(join(own, "program.js"), await bundleNow(program));
  });
  return readFileSync(join(folder, "program.js"), "utf8");
}

async function bundleNow(program: Program): Promise<string> {
  const opentelemetry = "contents" in program ? program.opentelemetry : undefined;
  const { outputFiles } = await build({
    ...("file" in program
      ? { entryPoints: [join(import.meta.dirname, program.file)] }
      : { stdin: { contents: program.contents, resolveDir: import.meta.dirname } }),
    plugins: [
      {
        name: "the package as it is built",
        setup({ onResolve, resolve }) {
          onResolve({ filter: /\/adapters\/workers\/index\.ts$/ }, () => {
            return { path: join(root, "dist/workers.js") };
          });
          if (opentelemetry === undefined) return;
          onResolve({ filter: /^@opentelemetry\// }, ({ path, kind, importer }) => {
            return importer === "<stdin>" ? resolve(path, { kind, resolveDir: opentelemetry }) : undefined;
          });
        },
      },
    ],
    // Without it esbuild reads tsconfig.json, whose paths lead to the source.
    tsconfigRaw: {},
    bundle: true,
    minify: true,
    format: "esm",
    // As wrangler does.
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "http", "url"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** Starts a Worker; rejects, with workerd's output, if it does not start. */
export async function start(
  script: string,
  { flags = ["nodejs_als", "enable_request_signal"], bindings = {} }: Setup = {},
): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "usher-workers-"));
  writeFileSync(join(folder, "program.js"), script);
  writeFileSync(join(folder, "config.capnp"), configured(flags, bindings));
  // workerd tells the port it took on a descriptor of its own.
  const child = spawn(runtimes.workerd(), ["serve", "config.capnp", "--control-fd=3"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  ends.push(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });
  const said = new Said([child.stdout as Readable, child.stderr as Readable]);
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdio[3] as Readable).on("line", (line) => {
      const { event, port } = JSON.parse(line) as { readonly event: string; readonly port: number };
      if (event === "listen") resolve(port);
    });
    child.once("error", reject);
    void ended.then(() => reject(new Error(`workerd did not start:\n${said.texts.join("\n")}`)));
  });
  return {
    pid: child.pid as number,
    client: () => RawClient.to(port),
    texts: said.texts,
    line: (message, of) => said.line(message, of),
  };
}

function configured(flags: readonly string[], bindings: Required<Setup>["bindings"]): string {
  const bound = Object.entries(bindings).map(([name, value]) => {
    return `(name = "${name}", ${typeof value === "string" ? "text" : "json"} = "${value}")`;
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .program),
    # It may connect to this machine too, where the tests' servers are.
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const program :Workerd.Worker = (
  modules = [(name = "program.js", esModule = embed "program.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(", ")}],
  bindings = [${bound.join(", ")}],
);
`;
}

/** What a process says: workerd writes to standard output what `console.log` gets. */
class Said {
  readonly texts: string[] = [];
  readonly #waitedFor = new Set<number>();
  #wake = (): void => {};

  constructor(from: readonly Readable[]) {
    for (const output of from) {
      createInterface(output).on("line", (text) => {
        this.texts.push(text);
        this.#wake();
      });
    }
  }

  async line(message: string, of: string | undefined): Promise<Line> {
    for (;;) {
      for (const [i, text] of this.texts.entries()) {
        // Of the runtime's own lines none is JSON.
        if (this.#waitedFor.has(i) || !text.startsWith("{")) continue;
        const line = JSON.parse(text) as Line;
        if (line["message"] !== message || (of !== undefined && line["request_id"] !== of)) continue;
        this.#waitedFor.add(i);
        came(line["message"] === message);
        return line;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
