import { Codec, Dep, Result } from "usher-http";
import type { Problem } from "usher-http";
import { csvRows } from "./csv.ts";
import type { Row } from "./csv.ts";
import type { NewOrder } from "./order.ts";

// An answer lists at most 1,000 problems: these, and one that says that there are more.
const maxProblems = 999;
/** All are placed by one statement, which has ten seconds. */
const maxOrders = 100_000;

/**
 * Reads the orders of a CSV file: the header `item,quantity`, then one order on each line, at most 100,000. A problem's place has the line
 * number, counted from 1, and the column: `form.orders[3].quantity`.
 */
export function readOrders(text: string, at: string): Result<readonly NewOrder[], readonly Problem[]> {
  const rows = csvRows(text);
  const header = rows.next().value;
  if (header?.fields?.length !== 2 || header.fields.join() !== "item,quantity") {
    // Without the header the columns are unknown.
    return Result.error([
      problem(`${at}[${header?.line ?? 1}]`, "malformed", "This must be the header item,quantity."),
    ]);
  }
  const orders: NewOrder[] = [];
  const problems: Problem[] = [];
  for (const row of rows) {
    if (orders.length === maxOrders)
      return Result.error([problem(at, "too_many", "This must have at most 100000 orders.")]);
    const read = readOrder(row, `${at}[${row.line}]`);
    if (read.ok) orders.push(read.value);
    else problems.push(...read.error);
    if (problems.length < maxProblems) continue;
    problems.push(problem(at, "too_many", "This has more problems than are told."));
    break;
  }
  return problems.length === 0 ? Result.ok(orders) : Result.error(problems);
}

/** Reads one line, with the problems of `POST /orders`. */
function readOrder({ fields }: Row, at: string): Result<NewOrder, readonly Problem[]> {
  if (fields === undefined) {
    return Result.error([problem(at, "malformed", "A quote in this line is misplaced, or not closed.")]);
  }
  if (fields.length > 2) return Result.error([problem(at, "too_many", "This must have at most 2 columns.")]);
  const item = readItem(fields[0] ?? "", `${at}.item`);
  const quantity = readQuantity(fields[1], `${at}.quantity`);
  if (item.ok && quantity.ok) return Result.ok({ item: item.value, quantity: quantity.value });
  return Result.error([item, quantity].flatMap((read) => (read.ok ? [] : [read.error])));
}

/** Reads an item's name. */
export function readItem(text: string, at: string): Result<string, Problem> {
  if (text === "") return Result.error(problem(at, "too_short", "This must be at least 1 character long."));
  // Counted in code points; `length` counts UTF-16 units.
  const tooLong = Array.from(text).length > 100;
  if (tooLong) return Result.error(problem(at, "too_long", "This must be at most 100 characters long."));
  return text.includes("\0") ? Result.error(problem(at, "malformed", "This must be text.")) : Result.ok(text);
}

function readQuantity(text: string | undefined, at: string): Result<number, Problem> {
  if (text === undefined) return Result.error(problem(at, "required", "This is required."));
  const read = Codec.int.parse(text);
  if (!read.ok) return Result.error(problem(at, "malformed", read.error));
  return read.value < 1 ? Result.error(problem(at, "too_small", "This must be at least 1.")) : read;
}

function problem(at: string, code: string, message: string): Problem {
  return Dep.problem({ at, code, message });
}
