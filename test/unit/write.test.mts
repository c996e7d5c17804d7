import { Write } from '../../nodes/ResumeManagement/run/write.ts';

test('a write that failed in an unforeseen way is not sent again', async () => {
	const write = new Write();
	const send = jest.fn(() => Promise.reject(new TypeError('x is undefined')));
	for (const _ of [1, 2]) await expect(write.send(send)).rejects.toThrow('Outcome unknown');
	expect(send).toHaveBeenCalledTimes(1);
});
