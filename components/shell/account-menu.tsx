"use client";
import { ChevronsUpDown } from "lucide-react";
import { MenuButton } from "@/components/ui/menu-button";
import { onDemand } from "@/components/ui/on-demand";

const { part, prepare } = onDemand(() => import("./account-list"));
const List = part((code) => code.AccountList);

/** The signed-in person's menu: their account, the theme, the operator pages and sign-out. */
export function AccountMenu({ email, isOperator }: { email: string; isOperator: boolean }) {
  return (
    <MenuButton
      className="flex w-full min-w-0 items-center gap-2 rounded-md p-1.5 text-left text-sm hover:bg-hover"
      prepare={prepare}
      menu={(props) => <List {...props} isOperator={isOperator} />}
    >
      <span
        aria-hidden
        className="grid size-6 shrink-0 place-items-center rounded-full bg-primary text-2xs font-semibold text-on-primary uppercase"
      >
        {email.slice(0, 1)}
      </span>
      <span className="sr-only">Account:</span>
      <span className="min-w-0 flex-1 truncate text-muted">{email}</span>
      <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-muted" />
    </MenuButton>
  );
}
