import type { SocketLink } from "./link.ts";
import { OpenSocket } from "./open-socket.ts";
import type { SocketSetting } from "./open-socket.ts";
import { Unreadable, said } from "./socket.ts";
import type { SocketEnd, SocketHandler } from "./socket.ts";

/** What a socket has of the request that opened it. */
export interface SocketRequest {
  /** Runs work as part of the request: what it logs carries the request's id. */
  run<A>(work: () => A): A;
  /** Says what is a bug of the application's, and changes nothing for its client. */
  warn(message: string): void;
  raised(thrown: unknown): void;
  /** Said once. */
  ended(how: string): void;
}

/** Has a handler speak with the client, and closes the socket as what came of it says. Never rejects. */
export async function speak<Client, Server>(
  link: SocketLink,
  handler: SocketHandler<Client, Server>,
  setting: Omit<SocketSetting<Client, Server>, "warn">,
  request: SocketRequest,
): Promise<void> {
  const socket = new OpenSocket(link, { ...setting, warn: (message) => request.warn(message) });
  const spoken = await handled(handler, socket, request);
  await socket.close(closes[spoken]);
  const end = await socket.ended;
  request.ended(spoken === "raised" ? "its handler raised" : said(end));
}

/** What came of a handler. */
type Spoken = "returned" | "unreadable" | "raised";

const closes: { readonly [S in Spoken]: { readonly code: number; readonly reason: string } } = {
  returned: { code: 1000, reason: "" },
  unreadable: { code: 1007, reason: "A message this socket could not read." },
  raised: { code: 1011, reason: "Something went wrong at our end." },
};

async function handled<Client, Server>(
  handler: SocketHandler<Client, Server>,
  socket: OpenSocket<Client, Server>,
  request: SocketRequest,
): Promise<Spoken> {
  try {
    const returned: void | SocketEnd = await request.run(async () => handler(socket));
    return returned?.kind === "unreadable" ? "unreadable" : "returned";
  } catch (thrown) {
    if (thrown instanceof Unreadable) return "unreadable";
    request.raised(thrown);
    return "raised";
  }
}
