import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What came of listening: a server for each address, and the addresses in words. */
export interface Listening {
  readonly servers: readonly Server[];
  readonly port: number;
  readonly bound: string;
}

/**
 * Listens where a host says. `localhost` is both loopback addresses, on one port; a machine without IPv6 has the one.
 * Nothing stays open where one of them fails.
 */
export async function listen(
  { host, port }: { readonly host: string; readonly port: number },
  make: () => Server,
): Promise<Listening> {
  if (host === "0.0.0.0" || host === "::") return everywhere(port, make);
  if (host !== "localhost") {
    const server = make();
    const taken = await listenOn(server, host, port);
    return { servers: [server], port: taken, bound: bracketed(host) };
  }
  const four = make();
  const taken = await listenOn(four, "127.0.0.1", port);
  const six = make();
  try {
    await listenOn(six, "::1", taken);
  } catch (error) {
    if (isWithoutFamily(error)) return { servers: [four], port: taken, bound: "127.0.0.1" };
    four.close();
    throw error;
  }
  return { servers: [four, six], port: taken, bound: "127.0.0.1 and [::1]" };
}

// One IPv6 socket takes IPv4 too, but where the machine has no IPv6 at all.
async function everywhere(port: number, make: () => Server): Promise<Listening> {
  const six = make();
  try {
    const taken = await listenOn(six, "::", port);
    return { servers: [six], port: taken, bound: "every interface: [::], which takes IPv4 too" };
  } catch (error) {
    if (!isWithoutFamily(error)) throw error;
  }
  const four = make();
  const taken = await listenOn(four, "0.0.0.0", port);
  return { servers: [four], port: taken, bound: "every interface: 0.0.0.0, with no IPv6 here" };
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function isWithoutFamily(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT";
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
