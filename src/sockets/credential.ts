import { needs } from "../arguments.ts";
import { isToken, itemsOf } from "../http/fields.ts";
import type { Dep } from "../inputs/dep.ts";

/**
 * A credential that a page's script sends with a WebSocket's handshake: `new WebSocket(url, ["chat", "bearer.TOKEN"])`. A browser
 * lets a script set no `Authorization` there, but it lets it offer subprotocols. The value is the rest of the one offered
 * subprotocol that begins with `prefix`; undefined where none does, or more than one. The server never answers with it, so the
 * script must offer a real subprotocol too: Chrome and Firefox end a WebSocket if none of those that were offered is chosen.
 *
 * @param prefix What it begins with, a token of RFC 9110: `bearer.`.
 * @example
 * ```ts
 * const user = Dep.join({ token: Socket.credential("bearer."), accounts }, ({ token, accounts }) =>
 *   accounts.ofToken(token) ?? refuse(signedOut, "Please sign in."), { refuses: [signedOut] });
 * ```
 */
export function credential(prefix: string): Dep<string | undefined> {
  const isPrefix = typeof prefix === "string" && isToken(prefix);
  needs(isPrefix, "Socket.credential: its prefix", prefix, "a token, as bearer.");
  const name = "sec-websocket-protocol";
  return {
    node: {
      from: [],
      needs: [{ in: "header", name }],
      compile: () => (request) => {
        const found = itemsOf(request.lines(name)).filter((item) => item.startsWith(prefix) && item !== prefix);
        return found.length === 1 ? found[0]?.slice(prefix.length) : undefined;
      },
    },
  };
}
