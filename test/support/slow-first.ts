/** The order of test files: the slowest begin first, so that none of them runs at the end while the other workers have nothing to do. */
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

// In the order of their time. Vitest's cache of times would tell, but a fresh clone has none.
const slow = [
  "growth/growth",
  "create/matrix",
  "telemetry/runtimes",
  "logging/stderr",
  "telemetry/otlp",
  "adapters/node/out-of-turn",
  "adapters/deno/listener",
  "adapters/node/other-runtimes",
  "adapters/bun/listener",
  "adapters/node/faults",
  "adapters/vanished",
  "adapters/bun/bun",
  "conformance/node-on-deno",
  "conformance/node-oldest",
  "adapters/postgres/relay",
  "conformance/node-newest",
  "conformance/deno",
  "package/packed",
  "examples/page",
  "conformance/bun",
  "adapters/postgres/chaos",
  "cli/runtimes",
  "conformance/node-on-bun",
  "adapters/redis/relay",
  "adapters/node/departures",
  "adapters/node/feeds",
  // These share processes.
  "openapi/reader-attacks",
  "adapters/cores/cores",
  "openapi/reader",
  "client/orders",
  "openapi/tools",
  "openapi/tables",
  "security/browsers",
  "app/counts",
  "openapi/reader-kinds",
  "security/idempotency-chaos",
  "schema/properties",
  "openapi/properties",
  "events/hub-model",
  "conformance/http2",
  "examples/oidc",
  "security/session-orders",
  "openapi/page",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = slow.indexOf(relative(`${this.ctx.config.root}/test`, moduleId).replace(".test.ts", ""));
      // Files that share a process come together, last, as it ends before one that has its own.
      return (project.config.isolate ? 0 : slow.length + 1) + (place === -1 ? slow.length : place);
    };
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}
