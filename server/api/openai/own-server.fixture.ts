import { afterAll, beforeAll } from "vitest";
import * as connections from "@/server/domain/connections";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";

/* A tenant with its own server that speaks chat completions. */

type Connection = { models: string; label?: string; passThrough?: string[] };

/** The tenant and its server for the tests of a file, both started before the first one. */
export function serveOwn() {
  const own = {
    /** Connects the server; rejects if the product refuses the connection. */
    connect({ label = "own", ...more }: Connection) {
      own.vendor.answer({ json: { object: "list", data: [] } });
      return connections.createCredential(
        system,
        own.tenant.organizationId,
        {
          provider: "openai-compatible",
          secret: "sk-own-123456",
          label,
          endpointUrl: own.vendor.url,
          ...more,
        },
        { places: [{ projectId: own.tenant.projectId, environment: "development" }] },
      );
    },
  } as { tenant: Tenant; vendor: Vendor; connect(connection: Connection): Promise<unknown> }; // `tenant` and `vendor` are set before the first test
  beforeAll(async () => {
    setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
    own.vendor = await startVendor();
    own.tenant = await makeTenant();
  });
  afterAll(() => own.vendor.stop());
  return own;
}
