const abortsAnyway = "Deno.serve: request.signal aborts";
let hushed = false;

/**
 * Suppresses Deno's one warning on the application's console that the signal of `clientGone` also aborts after a complete
 * response. The framework does not forward such an abort.
 */
export function hushAborts(): void {
  if (hushed) return;
  hushed = true;
  const target: Pick<Console, "warn"> = console;
  const { warn } = target;
  const filtered = (...given: readonly unknown[]): void => {
    const [first] = given;
    if (typeof first !== "string" || !first.startsWith(abortsAnyway)) warn(...given);
    // A `warn` that the application has set meanwhile stays, and may call this one.
    else if (target.warn === filtered) target.warn = warn;
  };
  // An application may have frozen its console: then it gets the warning.
  Reflect.set(target, "warn", filtered);
}
