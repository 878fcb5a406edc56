/** A schema of any library that follows Standard Schema v1 (https://standardschema.dev), Valibot among them. */
export interface AnyStandard<out Json = unknown, out A = unknown> {
  readonly "~standard": {
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<A> | Promise<StandardResult<A>>;
    /** Exists only in types. */
    readonly types?: { readonly input: Json; readonly output: A } | undefined;
  };
}

/** Whether the framework compiles a schema. Any other is run by its own library. */
export function isCompiled(schema: AnyStandard): boolean {
  // From JavaScript it may be any value.
  const given = schema as ({ readonly type?: unknown } & Partial<AnyStandard>) | null | undefined;
  return given?.["~standard"]?.vendor === "valibot" && typeof given.type === "string";
}

/** What `validate` of a {@link AnyStandard} answers: the value, or what is wrong. */
export type StandardResult<A> =
  | { readonly value: A; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/**
 * A schema of another library than Valibot that follows Standard Schema v1 (https://standardschema.dev): Zod 4, ArkType, Effect's
 * `Schema.toStandardSchemaV1`. `Json` is its input, and `A` its output. Its library validates what a client sends, and also
 * what a handler gives, which is its input; what is sent is its output.
 */
export interface StandardSchema<out Json = unknown, out A = unknown> extends AnyStandard<Json, A> {
  readonly "~run"?: never;
}

/** The value that a schema reads: its output. */
// Conditional: of a type parameter, the member alone would accept any value.
export type OutputOf<S extends StandardSchema> = S extends unknown
  ? NonNullable<S["~standard"]["types"]>["output"]
  : never;

/** The value that a schema takes: its input. A client sends it, and a handler gives it to be written. */
export type InputOf<S extends StandardSchema> = S extends unknown
  ? NonNullable<S["~standard"]["types"]>["input"]
  : never;

/** A schema for what is stored and read again: it must take the values that it makes. */
export type Stored<S extends StandardSchema> =
  OutputOf<S> extends InputOf<S>
    ? S
    : "A schema that changes the type of a value cannot read again what it wrote: validate it elsewhere.";

/** A value after `JSON.stringify` and `JSON.parse`: a `Date` is text. */
export type JsonForm<A> = A extends string | number | boolean | null | undefined
  ? A
  : A extends { toJSON(): infer Json }
    ? Json
    : A extends object
      ? { [K in keyof A]: JsonForm<A[K]> }
      : A;
