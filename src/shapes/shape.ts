import type { GenericSchema, InferInput, InferOutput } from "valibot";

/** A JSON shape: a Valibot schema that reads, bounds, describes and writes one kind of value. */
export type Shape<A = unknown, Json = unknown> = GenericSchema<Json, A>;

/** The value a shape reads and writes. */
export type ValueOf<S extends Shape> = InferOutput<S>;

/** The value's form in JSON: what a caller sends and gets. */
export type JsonOf<S extends Shape> = InferInput<S>;
