/** A program that starts a server, says where it is, and does not end. */
import { PostgresServer } from "../../../examples/orders/postgres-server.ts";

const server = await PostgresServer.start();
console.log(JSON.stringify({ port: server.port, directory: server.directory }));
setInterval(() => {}, 60_000);
