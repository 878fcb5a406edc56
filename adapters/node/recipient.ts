import type { App } from "../../src/doors/apps.ts";
import type { Recipient, SendBudget, Unsent } from "../../src/doors/server.ts";
import type { NodeConnection } from "./connection.ts";
import { linesOf } from "./exchange.ts";
import { responseBeingWritten, takenBytes } from "./private.ts";

/** A connection, as the budget of bytes that wait sees it. */
class ConnectionRecipient implements Recipient {
  readonly #connection: NodeConnection;
  readonly #networkOf: App["networkOf"];

  constructor(connection: NodeConnection, networkOf: App["networkOf"]) {
    this.#connection = connection;
    this.#networkOf = networkOf;
  }

  get network(): string | undefined {
    const { peer, socket } = this.#connection;
    const request = responseBeingWritten(socket)?.req;
    return this.#networkOf(peer, (name) => (request === undefined ? [] : linesOf(request, name)));
  }

  get taken(): number | undefined {
    return takenBytes(this.#connection.socket);
  }

  cut(): void {
    this.#connection.cut();
  }
}

/** Counts what waits on connections in a budget. */
export function unsentOf(budget: SendBudget, { networkOf }: App): (connection: NodeConnection) => Unsent {
  return (connection) => budget.of(new ConnectionRecipient(connection, networkOf));
}
