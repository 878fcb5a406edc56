/** What listens on one address. */
export interface Bound {
  readonly port: number;
  /** Listens no more. */
  close(): void;
}

/** What came of listening: a listener for each address, and the addresses in words. */
export interface Addresses<L extends Bound> {
  readonly listeners: readonly L[];
  readonly port: number;
  readonly bound: string;
}

type Listen<L> = (host: string, port: number) => L;

/**
 * Listens where a host says. `localhost` is both loopback addresses, on one port; a machine without IPv6 has the one.
 * Nothing stays open where one of them fails.
 */
export function listenAt<L extends Bound>(host: string, port: number, listen: Listen<L>): Addresses<L> {
  if (host === "0.0.0.0" || host === "::") return everywhere(port, listen);
  if (host === "localhost") return loopback(port, listen);
  const one = listen(host, port);
  return { listeners: [one], port: one.port, bound: host.includes(":") ? `[${host}]` : host };
}

function loopback<L extends Bound>(port: number, listen: Listen<L>): Addresses<L> {
  const four = listen("127.0.0.1", port);
  try {
    const six = listen("::1", four.port);
    return { listeners: [four, six], port: four.port, bound: "127.0.0.1 and [::1]" };
  } catch (error) {
    if (isWithoutFamily(error)) return { listeners: [four], port: four.port, bound: "127.0.0.1" };
    four.close();
    throw error;
  }
}

// One IPv6 socket takes IPv4 too, but where the machine has no IPv6 at all.
function everywhere<L extends Bound>(port: number, listen: Listen<L>): Addresses<L> {
  try {
    const six = listen("::", port);
    return { listeners: [six], port: six.port, bound: "every interface: [::], which takes IPv4 too" };
  } catch (error) {
    if (!isWithoutFamily(error)) throw error;
  }
  const four = listen("0.0.0.0", port);
  return { listeners: [four], port: four.port, bound: "every interface: 0.0.0.0, with no IPv6 here" };
}

function isWithoutFamily(error: unknown): boolean {
  return ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error));
}

/** Whether something listens there already, or a file is there. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === "EADDRINUSE";
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
