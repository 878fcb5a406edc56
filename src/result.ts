/** The outcome of an operation that can fail in an expected way: its value, or its error as a value. */
export type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: E };

/** Makes a success. */
export function ok(): Result<void, never>;
export function ok<A>(value: A): Result<A, never>;
/* @__NO_SIDE_EFFECTS__ */
export function ok<A>(value?: A): Result<A | undefined, never> {
  return { ok: true, value };
}

/** Makes a failure. */
/* @__NO_SIDE_EFFECTS__ */
export function error<E>(error: E): Result<never, E> {
  return { ok: false, error };
}
