import { Path, Returns, get } from "usher-http";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "Hello.");

export const routes = [hello] as const;
