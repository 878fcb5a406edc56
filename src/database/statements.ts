/** `Statement`: statements as values, and `verify`. */
export { count, exec, find, findOptional, list } from "./statement.ts";
export type { Args, Columns, Params, Row, RowOf, Rows, Statement, Types } from "./statement.ts";
export { verify } from "./verify.ts";
