#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
#
# Prints the commands and files in Documentation/admin-guide.rst:
#
#	guide.pl commands	blocks after ".. guest", each followed by a line "%%"
#	guide.pl realm		blocks after ".. realm", for the KDC of a guest
#	guide.pl file PATH	the block after ".. file PATH"
#	guide.pl readme README	commands in README that the guide lacks

use strict;
use warnings;

my ($mode, $what) = (@ARGV, '');
my (%files, @commands, $realm, %lines, $block);
my ($here) = $0 =~ m{^(.*)/};

open(my $guide, '<', "$here/../Documentation/admin-guide.rst") or die "the guide: $!\n";
while (<$guide>) {
	if (/^\.\. guest$/) {
		push(@commands, '');
		$block = \$commands[-1];
	} elsif (/^\.\. realm$/) {
		$block = \$realm;
		$realm .= '';
	} elsif (/^\.\. file (\S+)$/) {
		$block = \($files{$1} = '');
	} elsif (/^\t(.*)/) {
		my $line = $1;

		$$block .= "$line\n" if $block;
		$lines{join(' ', split(' ', $line))} = 1;
	} elsif ($block && length $$block && /\S/) {
		undef $block;
	}
}

if ($mode eq 'commands') {
	print "$_%%\n" for @commands;
} elsif ($mode eq 'realm' && $realm) {
	print $realm;
} elsif ($mode eq 'file' && $files{$what}) {
	print $files{$what};
} elsif ($mode eq 'readme') {
	my ($section, $bad) = ('', 0);

	open(my $readme, '<', $what) or die "$what: $!\n";
	while (<$readme>) {
		$section = $1 if /^(On a real machine|Read on)$/;
		next unless $section eq 'On a real machine' && /^    (\S.*)/;
		my $line = join(' ', split(' ', $1));

		# Output of the server, not a command
		next if $lines{$line} || $line =~ /^peer=/;
		print "$what: not in the guide: $line\n";
		$bad = 1;
	}
	exit $bad;
} else {
	die "usage: $0 commands | realm | file PATH | readme README\n";
}
