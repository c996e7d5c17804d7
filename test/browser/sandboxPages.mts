import { instance, page } from './editor.mts';

/** Returns on how many lines the longest email of a list is, and how many pixels are out of sight. Runs in the browser. */
const measure = `
	const linesOf = (cell) => {
		const range = document.createRange();
		range.selectNodeContents(cell);
		return range.getClientRects().length;
	};
	const hidden = (element) => element.scrollWidth - element.clientWidth;
	const most = (selector, count) => Math.max(0, ...Array.from(document.querySelectorAll(selector), count));
	[most('td[data-label=Email]', linesOf), most('html, figure', hidden)]`;

it("on a phone, the sandbox's lists show each email on one line, and nothing is out of sight", async () => {
	const { webhooks, baseUrl, url } = instance.sandbox;
	webhooks.register({ url: `${instance.url}/webhook/${'long'.repeat(30)}`, style: 'none' });
	const [email] = instance.emails.toSorted((one, other) => other.length - one.length);
	const headers = { 'Content-Type': 'application/json' };
	const body = JSON.stringify({ email, planId: 'plan_failing_payment' });
	await fetch(`${baseUrl}/plan/upgrade`, { method: 'POST', headers, body });
	const phone = await page.context().newPage();
	await phone.setViewportSize({ width: 390, height: 800 });
	for (const [name, lines] of Object.entries({
		users: 1,
		upgrades: 1,
		webhooks: 0,
		faults: 0,
		emails: 0,
	})) {
		await phone.goto(`${url}/${name}`);
		expect([name, await phone.evaluate(measure)]).toEqual([name, [lines, 0]]);
	}
	await phone.close();
});
