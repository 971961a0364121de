"use client";
import { Menu } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Logo } from "@/components/brand/logo";
import { Button } from "@/components/ui/button";
import { Dialog, Sheet } from "@/components/ui/dialog";
import { PanelNav } from "./panel-nav";

/** The sidebar on a narrow screen: behind one button, and closed by choosing a page. */
export function MobileNav({
  projectId,
  switcher,
  account,
}: {
  projectId: string;
  switcher: ReactNode;
  account: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button variant="ghost" size="icon" aria-label="Open navigation" className="size-9 [&_svg]:size-5">
          <Menu aria-hidden />
        </Button>
      }
    >
      <Sheet title="Navigation">
        <div className="flex flex-1 flex-col gap-3 p-3">
          <div className="flex h-9 items-center px-1">
            <Logo />
          </div>
          {switcher}
          <PanelNav projectId={projectId} onNavigate={() => setOpen(false)} />
          <div className="border-t border-line pt-2">{account}</div>
        </div>
      </Sheet>
    </Dialog>
  );
}
