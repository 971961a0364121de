"use client";
import { usePathname } from "next/navigation";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";

/** For a reader with several accounts: signs in with another one and returns here. */
export function SignInElsewise({ email }: { email: string | null }) {
  const here = usePathname();
  const signIn = `/sign-in?${new URLSearchParams({ callbackUrl: here, reason: "switch" })}`;
  return (
    <div className="space-y-4 text-center">
      {email && (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          You are signed in as {email}. If this link was sent to another account, sign in with that account.
        </p>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <Button asChild variant="primary">
          <a href={signIn}>Switch account</a>
        </Button>
        <Button asChild>
          <Link href="/">Go to project</Link>
        </Button>
      </div>
    </div>
  );
}
