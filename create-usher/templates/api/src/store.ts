import { Dep, Refusal, refuse } from "usher-http";

export interface NewOrder {
  readonly item: string;
  readonly quantity: number;
}

export interface Order extends NewOrder {
  readonly id: number;
  readonly placed_at: Date;
}

/** A refusal: an error that a route declares. The compiler rejects a handler that refuses with any other. */
export const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is too little of that item left." });

export function soldOutOf({ item }: NewOrder): Refusal<"sold_out"> {
  return refuse(soldOut, `There is too little left of ${item}.`);
}

/** What the routes need of a database. `postgres-store.ts` implements it; the tests use one in memory. */
export interface Store {
  place(order: NewOrder): Promise<Order | Refusal<"sold_out">>;
  find(id: number): Promise<Order | undefined>;
  /** The newest orders, newest first. */
  list(page: { readonly offset: number; readonly limit: number }): Promise<readonly Order[]>;
  /** Resolves with false if there is no such order. */
  remove(id: number): Promise<boolean>;
}

/** A dependency: a route names it among its inputs, and the program supplies it where it starts. */
export const store = Dep.ofResource<Store>("store");
