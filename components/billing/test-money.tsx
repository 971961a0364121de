import { Badge } from "@/components/ui/badge";

/** What the money is called that only the sandbox takes, everywhere; it lies in the test wallet and the allowance beside it. */
export const TEST_MONEY = "test money";

export const TestMoneyBadge = () => <Badge>Test money</Badge>;
