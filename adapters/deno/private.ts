const abortsAnyway = "Deno.serve: request.signal aborts";
let hushed = false;

/**
 * Keeps Deno from saying once, to the console of whoever asked for `clientGone`, that its signal aborts after an answer
 * that is whole. That is known here, and no such abort is passed on.
 */
export function hushAborts(): void {
  if (hushed) return;
  hushed = true;
  const its: Pick<Console, "warn"> = console;
  const { warn } = its;
  const unlessIt = (...said: readonly unknown[]): void => {
    const [first] = said;
    if (typeof first !== "string" || !first.startsWith(abortsAnyway)) warn(...said);
    // What the application has set meanwhile stays, and may call this one.
    else if (its.warn === unlessIt) its.warn = warn;
  };
  // An application may have frozen its console: then it is told.
  Reflect.set(its, "warn", unlessIt);
}
