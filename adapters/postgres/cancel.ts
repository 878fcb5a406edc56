import type { Socket } from "node:net";
import { dial } from "./dial.ts";
import type { Birth } from "./birth.ts";

/** Who serves a connection, and what only its client knows of it. */
export interface Backend {
  readonly pid: number;
  readonly secret: number;
}

const cancelMs = 5000;

/** Asks for the statement that runs to be ended (PostgreSQL §54.2.8), on a connection for that alone. */
export async function askToCancel(birth: Birth, { pid, secret }: Backend): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80877102, 4);
  message.writeInt32BE(pid | 0, 8);
  message.writeInt32BE(secret | 0, 12);
  await tell(birth, message);
}

/** Sends a message, and waits for the server to close it: then it was read. */
async function tell({ address, target }: Birth, message: Buffer): Promise<void> {
  const sockets: Socket[] = [];
  const timer = setTimeout(() => sockets.at(-1)?.destroy(), cancelMs);
  try {
    const socket = await dial(address, target.tls, (socket) => sockets.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.resume().write(message);
    });
  } catch {
    // The server's own bound ends the statement where nobody can ask it to.
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}
