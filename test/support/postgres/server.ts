/** The server that the examples start, which the tests start too. */
export * from "../../../examples/orders/postgres-server.ts";
