import type { GenericSchema } from "valibot";

/** A JSON shape: a Valibot schema that reads, bounds, describes and writes one kind of value. */
export type Shape<A = unknown, Json = unknown> = GenericSchema<Json, A>;

/** The value a shape reads and writes. */
export type ValueOf<S> = S extends GenericSchema<infer _Json, infer A> ? A : never;

/** The value's form in JSON: what a caller sends and gets. */
export type JsonOf<S> = S extends GenericSchema<infer Json, infer _A> ? Json : never;
