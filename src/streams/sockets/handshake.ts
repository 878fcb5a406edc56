import { itemsOf, lists } from "../../codecs/tokens.ts";
import type { Asked } from "../../inputs/asked.ts";
import { upgradeRequired } from "../../refusals/framework-codes.ts";
import { Problem } from "../../refusals/problem.ts";
import { Refusal, invalidRefusal } from "../../refusals/refusal.ts";

const notOpened = "This address opens a WebSocket, and nothing else.";
const otherVersion = "This server speaks version 13 of WebSockets.";

/**
 * What keeps a request from opening a WebSocket (RFC 6455 §4.2.1): a 426 where it asks for none, or for another version,
 * and otherwise every problem of its handshake in one 400.
 *
 * @param canUpgrade Whether its connection can become one at all: HTTP/1.0 cannot.
 */
export function handshakeRefusal(
  asked: Asked,
  canUpgrade: boolean,
  subprotocol: string | undefined,
): Refusal | undefined {
  if (!canUpgrade || !lists(asked.lines("upgrade"), "websocket")) return upgradeRefusal(notOpened, []);
  const versions = asked.lines("sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") {
    return upgradeRefusal(otherVersion, [["sec-websocket-version", "13"]]);
  }
  const problems: Problem[] = [];
  if (!lists(asked.lines("connection"), "upgrade")) {
    problems.push(new Problem("header.connection", "required", "A WebSocket is opened with Connection: upgrade."));
  }
  const keys = asked.lines("sec-websocket-key");
  // The base64 of 16 bytes: of its last two characters but four bits say something.
  if (keys.length !== 1 || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "")) {
    problems.push(new Problem("header.sec-websocket-key", "malformed", "This is not a WebSocket key."));
  }
  if (subprotocol !== undefined && !offers(asked, subprotocol)) {
    const message = `This socket speaks ${subprotocol}, which was not offered.`;
    problems.push(new Problem("header.sec-websocket-protocol", "required", message));
  }
  return problems.length === 0 ? undefined : invalidRefusal(problems);
}

function upgradeRefusal(message: string, headers: Refusal["headers"]): Refusal {
  return new Refusal(upgradeRequired, message, { headers: [["upgrade", "websocket"], ...headers] });
}

// A subprotocol's name is compared as it is written (RFC 6455 §4.2.2).
function offers(asked: Asked, subprotocol: string): boolean {
  return itemsOf(asked.lines("sec-websocket-protocol")).includes(subprotocol);
}
