import type { Limits } from "./options.ts";

/** How a runtime listens. A failure is the system's error, with its `code`. */
export interface ListeningRuntime<Listening> {
  listenOn(host: string, port: number): Listening | Promise<Listening>;
  listenAtPath(path: string): Listening | Promise<Listening>;
  portOf(listening: Listening): number;
  /** Stops listening. */
  close(listening: Listening): void;
  readonly sockets: UnixSockets;
}

/** The sockets in the file system of a runtime. */
interface UnixSockets {
  /** Which socket is at a path; undefined where none is. A system gives the number of a file that was removed to the next one. */
  socketAt(path: string): string | undefined;
  /** Whether no server listens there. */
  isDead(path: string): Promise<boolean>;
  remove(path: string): void;
}

/** A server for each address, and the addresses as text. */
interface Addresses<Listening> {
  readonly servers: readonly Listening[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type Bound<Listening> = Omit<Addresses<Listening>, "url">;

/** Listens on the address of the options. If one address fails, nothing stays open. */
export async function listenAt<Listening>(
  { host, port, socket, tls }: Limits,
  runtime: ListeningRuntime<Listening>,
): Promise<Addresses<Listening>> {
  if (socket !== undefined) {
    return { servers: [await listenAtPath(socket, runtime)], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const bound = await listenOn(host, port, runtime);
  return { ...bound, url: `${tls === undefined ? "http" : "https"}://${bracketed(host)}:${bound.port}` };
}

// Only the socket of a dead server is removed: neither one in use, nor a file that is not a socket.
async function listenAtPath<Listening>(path: string, runtime: ListeningRuntime<Listening>): Promise<Listening> {
  const { sockets } = runtime;
  try {
    return await runtime.listenAtPath(path);
  } catch (error) {
    const left = isTaken(error) ? sockets.socketAt(path) : undefined;
    // Another server may have removed it meanwhile, and listens there.
    if (left === undefined || !(await sockets.isDead(path)) || sockets.socketAt(path) !== left) throw error;
    sockets.remove(path);
  }
  return runtime.listenAtPath(path);
}

/** `localhost` is both loopback addresses, on one port; a machine without IPv6 has one. */
async function listenOn<Listening>(
  host: string,
  port: number,
  runtime: ListeningRuntime<Listening>,
): Promise<Bound<Listening>> {
  if (host === "0.0.0.0" || host === "::") return everywhere(port, runtime);
  if (host === "localhost") return loopback(port, runtime, 1);
  const one = await runtime.listenOn(host, port);
  return { servers: [one], port: runtime.portOf(one), bound: bracketed(host) };
}

/** How often the system picks a port, which may be free at one of the two addresses alone. */
const maxPicks = 10;

async function loopback<Listening>(
  port: number,
  runtime: ListeningRuntime<Listening>,
  picks: number,
): Promise<Bound<Listening>> {
  const four = await runtime.listenOn("127.0.0.1", port);
  const taken = runtime.portOf(four);
  try {
    const six = await runtime.listenOn("::1", taken);
    return { servers: [four, six], port: taken, bound: "127.0.0.1 and [::1]" };
  } catch (error) {
    if (isWithoutFamily(error)) return { servers: [four], port: taken, bound: "127.0.0.1" };
    runtime.close(four);
    if (port === 0 && isTaken(error) && picks < maxPicks) return loopback(port, runtime, picks + 1);
    throw error;
  }
}

// One IPv6 socket accepts IPv4 too, unless the machine has no IPv6.
async function everywhere<Listening>(port: number, runtime: ListeningRuntime<Listening>): Promise<Bound<Listening>> {
  try {
    const six = await runtime.listenOn("::", port);
    return { servers: [six], port: runtime.portOf(six), bound: "every interface: [::], which takes IPv4 too" };
  } catch (error) {
    if (!isWithoutFamily(error)) throw error;
  }
  const four = await runtime.listenOn("0.0.0.0", port);
  return { servers: [four], port: runtime.portOf(four), bound: "every interface: 0.0.0.0, with no IPv6 here" };
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function isWithoutFamily(error: unknown): boolean {
  return ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(errorCodeOf(error));
}

/** Whether another listener has the address, or a file is there. */
export function isTaken(error: unknown): boolean {
  return errorCodeOf(error) === "EADDRINUSE";
}

/** Uncaught, it is printed as its one sentence: frames say nothing of who has the address. */
export function takenError({ host, port, socket }: Limits): Error {
  const what = socket === undefined ? `port ${port} of ${host}` : `the path ${socket}`;
  const error = new Error(`serve: ${what} is taken: stop the program that has it, or set another one`);
  error.stack = String(error);
  return Object.defineProperty(error, "code", { value: "EADDRINUSE" });
}

function errorCodeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** Throws on a system without `reusePort`, where Bun and Deno would ignore it. */
export function checkReusePort({ reusePort }: Limits, system: string, systems: readonly string[]): void {
  if (reusePort !== true || systems.includes(system)) return;
  throw new TypeError(
    `serve: reusePort is not kept on ${system}, which shares no port between processes: use node:cluster, or a port for each process`,
  );
}

/** The used part of `node:fs`. */
interface FileSystem {
  lstatSync(
    path: string,
    options: { readonly throwIfNoEntry: false; readonly bigint: true },
  ): { isSocket(): boolean; readonly ino: bigint; readonly ctimeNs: bigint } | undefined;
  unlinkSync(path: string): void;
}

/** The used part of a socket of `node:net`. */
interface ProbingClient {
  once(event: "connect", act: () => void): unknown;
  once(event: "error", act: (error: Error) => void): unknown;
  destroy(): unknown;
}

/** The sockets in the file system of Node and Bun. */
export function unixSocketsBy(files: FileSystem, connect: (path: string) => ProbingClient): UnixSockets {
  return {
    socketAt: (path) => {
      const file = files.lstatSync(path, { throwIfNoEntry: false, bigint: true });
      return file?.isSocket() === true ? `${file.ino} ${file.ctimeNs}` : undefined;
    },
    isDead: (path) =>
      new Promise((resolve) => {
        const client = connect(path);
        client.once("connect", () => {
          client.destroy();
          resolve(false);
        });
        client.once("error", (error) => resolve(errorCodeOf(error) === "ECONNREFUSED"));
      }),
    remove: (path) => files.unlinkSync(path),
  };
}
