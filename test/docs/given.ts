/** What the snippets of the documentation leave to the reader, of all pages: see `scripts/docs/snippets.mjs`. */
import { Codec, Event, Header, Path, Query, Refusal, Returns, get, json, param, post } from "usher-http";
import type { Resource, Route, SessionStore, Supplied } from "usher-http";
import type { Pool } from "usher-http/postgres";
import * as v from "valibot";

export const Order: v.ObjectSchema<
  { readonly item: v.StringSchema<undefined>; readonly quantity: v.NumberSchema<undefined> },
  undefined
> = v.object({ item: v.string(), quantity: v.number() });
export type Order = v.InferOutput<typeof Order>;

export const orderId = Path.int("order_id");
export const orders = Path.of("orders");
export const order = Path.of("orders", orderId);
export const id = param(orderId);
export const inputs = { order: json(Order) };
export const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Bearer" });
export const soldOut = Refusal.code("sold_out", { status: 409, doc: "None of that item is left." });
export const wrongPassword = Refusal.code("wrong_password", { status: 403, doc: "The password is wrong." });
export const Placed = Event.json("placed", Order);
export const alreadyPlaced = Refusal.code("already_placed", { status: 409, doc: "That order was placed before." });
export const authorization = Header.optional("authorization", Codec.credentials);

export const getOrder = get(
  order,
  { inputs: { id }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  ({ id }) => findOrder(id),
);
export const placeOrder = post(
  orders,
  {
    inputs: {
      order: json(Order),
      authorization,
      tag: Query.list("tag", Codec.string),
      notify: Query.optional("notify", Codec.bool),
    },
    returns: Returns.jsonResponse(Order, { 200: "Placed before.", 201: "Placed." }),
    refuses: [soldOut, signedOut],
  },
  ({ order }) => answered(order),
);
export const feed = get(Path.of("orders", "feed"), { returns: Returns.events([Placed]) }, () => async () => {});
export const api: readonly Route[] = [getOrder, placeOrder];

export declare const routes: readonly Route[];
export declare const pool: Pool;
export declare const database: Resource<Pool>;
export declare const resources: readonly Supplied[];
export declare const store: Resource<SessionStore>;
export declare const secret: string;
export declare const newest: string;
export declare const retired: string;
export declare const url: string;
export declare const signal: AbortSignal;
export declare const token: string;
export declare const pdf: Uint8Array;
export declare const link: { href: string; download: string };
export declare const credential: string;
export declare const Sentry: { captureException(error: unknown, context: object): void };
export interface OrderStore {
  readonly get: (key: string) => Promise<string | null>;
}
export interface Env {
  readonly ORDERS: OrderStore;
}

export declare function add(email: string, picture: Uint8Array | undefined): void;
export declare function storeBytes(bytes: Uint8Array): Promise<void>;
export declare function isRight(name: string, password: string): Promise<boolean>;
export declare function priceOf(item: string): Promise<number>;
export declare function ordersAfter(id: number, signal: AbortSignal): AsyncIterable<Order & { readonly id: number }>;
export declare function answered(order: Order): never;
export declare function find(by: unknown): never;
export declare function findOrder(id: number): Promise<Order>;
export declare function place(order: Order): Order;
