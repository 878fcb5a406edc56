/** The bodies of the framework's refusals, byte by byte. */
type Told = readonly [at: string, code: string, message: string];

export const internal = '{"error":"internal","message":"Something went wrong at our end. Please try again."}';
export const notFound = '{"error":"not_found","message":"There is nothing here."}';
export const notAllowed = '{"error":"method_not_allowed","message":"That is not something you can do here."}';
export const notImplemented = '{"error":"not_implemented","message":"That is not something this server does."}';
export const tooLarge = '{"error":"too_large","message":"That request is too large."}';
export const unreadable = '{"error":"unreadable","message":"That request could not be read."}';
export const unsupported =
  '{"error":"unsupported_media_type","message":"That request\'s body is not in a form this can read."}';
export const busy = '{"error":"busy","message":"The server is busy. Please try again in a moment."}';

/** The one 400 that tells every problem. */
export function invalid(...told: readonly Told[]): string {
  const problems = told.map(([at, code, message]) => ({ at, code, message }));
  return JSON.stringify({ error: "invalid", message: "Some of that request is not what it should be.", problems });
}
