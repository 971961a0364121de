"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { Button } from "@/components/ui/button";

/** For a reader who may have another account: signs in as somebody else, and leads back here. */
export function SignInElsewise({ email }: { email: string | null }) {
  const here = usePathname();
  const signIn = `/sign-in?${new URLSearchParams({ callbackUrl: here, reason: "switch" })}`;
  return (
    <div className="space-y-4 text-center">
      {email && (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          You are signed in as {email}. If the link was sent to another of your accounts, sign in with that
          one.
        </p>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <Button asChild variant="primary">
          <a href={signIn}>Sign in as somebody else</a>
        </Button>
        <Button asChild>
          <Link href="/">Go to your project</Link>
        </Button>
      </div>
    </div>
  );
}
