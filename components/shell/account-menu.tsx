"use client";
import {
  ChevronsUpDown,
  CircleUser,
  Inbox,
  LogOut,
  Mail,
  Monitor,
  Moon,
  Sun,
  TriangleAlert,
} from "lucide-react";
import { useTheme } from "next-themes";
import { leave } from "@/components/account/leave";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import Link from "@/components/ui/link";
import { leaveUnsaved } from "@/components/unsaved/unsaved-work";

/** Who is signed in, with links to their account, the theme, the operator pages and sign-out. */
export function AccountMenu({ email, isOperator }: { email: string; isOperator: boolean }) {
  const { theme = "system", setTheme } = useTheme();
  return (
    <DropdownMenu>
      <DropdownMenuTrigger className="flex w-full min-w-0 items-center gap-2 rounded-md p-1.5 text-left text-sm hover:bg-hover">
        <span
          aria-hidden
          className="grid size-6 shrink-0 place-items-center rounded-full bg-primary text-2xs font-semibold text-on-primary uppercase"
        >
          {email.slice(0, 1)}
        </span>
        <span className="sr-only">Account:</span>
        <span className="min-w-0 flex-1 truncate text-muted">{email}</span>
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-muted" />
      </DropdownMenuTrigger>
      <DropdownMenuContent align="start" side="top" className="w-60">
        <DropdownMenuLabel>Theme</DropdownMenuLabel>
        <DropdownMenuRadioGroup value={theme} onValueChange={setTheme}>
          <DropdownMenuRadioItem value="light">
            <Sun aria-hidden />
            Light
          </DropdownMenuRadioItem>
          <DropdownMenuRadioItem value="dark">
            <Moon aria-hidden />
            Dark
          </DropdownMenuRadioItem>
          <DropdownMenuRadioItem value="system">
            <Monitor aria-hidden />
            System
          </DropdownMenuRadioItem>
        </DropdownMenuRadioGroup>
        <DropdownMenuSeparator />
        {isOperator && (
          <>
            <DropdownMenuItem asChild>
              <Link href="/operator/requests">
                <Inbox aria-hidden />
                Capability requests
              </Link>
            </DropdownMenuItem>
            <DropdownMenuItem asChild>
              <Link href="/attention">
                <TriangleAlert aria-hidden />
                Needs attention
              </Link>
            </DropdownMenuItem>
            <DropdownMenuItem asChild>
              <Link href="/operator/outbox">
                <Mail aria-hidden />
                Outbox
              </Link>
            </DropdownMenuItem>
            <DropdownMenuSeparator />
          </>
        )}
        <DropdownMenuItem asChild>
          <Link href="/account">
            <CircleUser aria-hidden />
            Account
          </Link>
        </DropdownMenuItem>
        <DropdownMenuItem onSelect={() => leaveUnsaved(() => leave("out"))}>
          <LogOut aria-hidden />
          Sign out
        </DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
