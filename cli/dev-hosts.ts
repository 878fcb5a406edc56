import { make as answer } from "../src/answers/makers.ts";
import type { Middleware } from "../src/app/compile.ts";
import { authorityOf } from "../src/http/target.ts";
import { UsageError } from "./command.ts";

/*
 * A page of any site may reach a server at a loopback address under the site's own name (DNS rebinding): its name leads to 127.0.0.1
 * once the page is loaded. To the browser it is one origin, whose pages may read and send everything. Only `Host` tells it apart.
 */

const loopback = /^(?:(?:[a-z\d_-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/;
const everyInterface: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);
const listed = /^(?:(?:\*\.)?[a-z\d_-]+(?:\.[a-z\d_-]+)*|\[[\da-f:.]+\])$/;

/**
 * Whether `usher dev` answers for a value of `Host`: loopback names, the address that it listens at, and those that the user lists. A
 * server at every interface answers for every address, as no DNS leads there.
 *
 * @param host The option `--host`.
 * @param allowed Those of `--allow-host`: names, or `*.` and a name for all below it.
 * @throws UsageError for one that is not a name.
 */
export function hostsOf(host: string, allowed: readonly string[]): (host: string) => boolean {
  const names = new Set<string>();
  const endings: string[] = [];
  for (const text of allowed) {
    const name = text.toLowerCase();
    if (!listed.test(name)) {
      throw new UsageError(
        `--allow-host must be a host name, such as shop.example or *.tunnel.example, and not ${JSON.stringify(text)}`,
      );
    }
    if (name.startsWith("*.")) endings.push(name.slice(1));
    else names.add(name);
  }
  const own = host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase();
  names.add(own);
  const isOpen = everyInterface.has(own);
  return (value) => {
    const name = hostnameOf(value);
    if (loopback.test(name) || (isOpen && address.test(name))) return true;
    return (names.has(name) && !everyInterface.has(name)) || endings.some((ending) => isBelow(name, ending));
  };
}

/** The name in a `Host`, without its port and the dot at its end. */
function hostnameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/([^.])\.$/, "$1");
}

function isBelow(name: string, ending: string): boolean {
  return name.endsWith(ending) && /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(name.slice(0, -ending.length));
}

const refusal = `usher dev does not answer for this host: start it with --allow-host and the name.\n`;

/** Answers 421 to every request for another host, also to the handshake of a WebSocket. `note` is called for the first one. */
export function hostGuard(isAllowed: (host: string) => boolean, note: () => void): Middleware {
  let isNoted = false;
  return (request, next) => {
    // Not `request.host`, which a page could set where a proxy on this machine is trusted.
    const hosts = [request.header("host") ?? "", authorityOf(request.target)];
    if (hosts.every((host) => host === undefined || isAllowed(host))) return next();
    if (!isNoted) note();
    isNoted = true;
    return answer(refusal, { status: 421 });
  };
}
