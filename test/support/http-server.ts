/** A server of `node:http` on a free port of 127.0.0.1, for what a test answers by itself. */
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { endsWithFile, endsWithTest } from "./ends.ts";

export interface HttpServer {
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:` and the port. */
  readonly url: string;
  /** Ends it, and its connections, before its test or its file does. */
  close(): Promise<void>;
}

const ofTests: HttpServer[] = [];
const ofFiles: HttpServer[] = [];
endsWithTest(() => closeAll(ofTests));
endsWithFile(() => closeAll(ofFiles));

/** Starts a server that ends with its test. */
export async function serverOfTest(answer: RequestListener): Promise<HttpServer> {
  const started = await start(answer);
  ofTests.push(started);
  return started;
}

/** Starts a server that ends with its test file. */
export async function serverOfFile(answer: RequestListener): Promise<HttpServer> {
  const started = await start(answer);
  ofFiles.push(started);
  return started;
}

async function start(answer: RequestListener): Promise<HttpServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function closeAll(servers: HttpServer[]): Promise<void> {
  await Promise.all(servers.splice(0).map((one) => one.close()));
}
