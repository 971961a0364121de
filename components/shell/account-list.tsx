"use client";
import { CircleUser, Inbox, LogOut, Mail, Monitor, Moon, Sun, TriangleAlert } from "lucide-react";
import { useTheme } from "next-themes";
import { leave } from "@/components/account/leave";
import {
  DropdownMenu,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuSeparator,
} from "@/components/ui/dropdown-menu";
import Link from "@/components/ui/link";
import type { MenuProps } from "@/components/ui/menu-button";
import { leaveUnsaved } from "@/components/unsaved/unsaved-work";

export function AccountList({ isOperator, trigger, asked }: MenuProps & { isOperator: boolean }) {
  const { theme = "system", setTheme } = useTheme();
  return (
    <DropdownMenu trigger={trigger} asked={asked} align="start" side="top" className="w-60">
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
    </DropdownMenu>
  );
}
