/** Chromium, where this machine has it. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import { need } from "./needs.ts";
import type { Need } from "./needs.ts";

declare global {
  // The DOM's names that Playwright's types mention; the tests are compiled without the DOM.
  interface Node {
    readonly nodeType: number;
  }
  interface HTMLElement extends Node {
    readonly title: string;
  }
  interface SVGElement extends Node {
    readonly id: string;
  }
  interface HTMLElementTagNameMap {
    readonly [name: string]: HTMLElement;
  }
}

/** Where Chromium is; undefined where there is none. */
const chromiumPath: string | undefined = process.env["CHROMIUM_PATH"] || onPath();

export const browser: Need = need("Chromium; .ci/run installs it", chromiumPath !== undefined);

// A new page starts a process, and Chromium starts another one for the next page: 0.87 s of processor time a page in place of 0.69.
// The switch replaces Playwright's own of the same name, so that what its list has for tests stands here too.
const unwanted = [
  "SpareRendererForSitePerProcess",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("no Chromium on this machine");
  // Chromium's sandbox refuses to run as root.
  const args = [
    `--disable-features=${unwanted.join(",")}`,
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ...more,
  ];
  const browser = await chromium.launch({ executablePath: chromiumPath, args, timeout: 0 });
  // Playwright ends a wait after 30 seconds, which a busy machine may need. Here a wait ends with its test.
  browser.on("context", (context) => context.setDefaultTimeout(0));
  return browser;
}

function onPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  // Chromium makes a window for each page. The headless shell is the same engine without windows, and takes a quarter of the
  // processor time: 0.55 s a page in place of 2.3, on a busy machine.
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
