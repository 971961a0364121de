import type { Metadata } from "next";
import { DeviceApproval } from "@/components/account/device-approval";
import { PanelData } from "@/components/data/panel-data";
import { PlainPage } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";

export const metadata: Metadata = { title: "Sign in a device", referrer: "no-referrer" };

type Props = { searchParams: Promise<{ code?: string | string[] }> };

/** The page where a person approves a device that shows a code. A link may contain the code, but the person decides. */
export default async function Device({ searchParams }: Props) {
  const { code } = await searchParams;
  const given = typeof code === "string" ? code.slice(0, 40) : "";
  const path = given ? `/device?${new URLSearchParams({ code: given })}` : "/device";
  const { email } = await requirePerson(path);
  return (
    <PanelData>
      <PlainPage>
        <DeviceApproval email={email} given={given} />
      </PlainPage>
    </PanelData>
  );
}
