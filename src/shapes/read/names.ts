/** A JSON object. */
export interface Members {
  [name: string]: unknown;
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasOwn(value: Members, name: string): boolean {
  return Object.prototype.hasOwnProperty.call(value, name);
}

/** Names that would reach a prototype once an application copies the object; Valibot's records leave them out too. */
export function isNeverRead(name: string): boolean {
  return name === "__proto__" || name === "constructor" || name === "prototype";
}
