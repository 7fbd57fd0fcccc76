"""Hostile programs in Perl; the first word of the command line chooses what one does."""

BOMBS = r"""
use strict;
use warnings;
use POSIX ();
$| = 1;

sub hog {
    my @kept;
    push @kept, chr(65 + @kept % 26) x (1 << 20) while 1;
}

sub fill {
    my ($folder) = @_;
    my ($total, $block) = (0, 'x' x (1 << 16));
    for my $n (0 .. 99) {
        open my $file, '>', "$folder/hostile-$n" or last;
        my $size = 0;
        while ($size < 8 << 20) {
            my $wrote = syswrite $file, $block;
            return $total if !$wrote;
            $size += $wrote;
            $total += $wrote;
        }
    }
    return $total;
}

sub figures {
    my $bytes = fill('.') + fill('/tmp');
    my $shm = fill('/dev/shm');
    unlink glob('hostile-* /tmp/hostile-*');
    my ($files, @open) = (0);
    while ($files < 100_000) {
        open my $file, '>', "/tmp/hostile-empty-$files" or last;
        $files++;
    }
    while (open my $file, '<', '/dev/null') { push @open, $file }
    print "bytes $bytes shm $shm files $files open ", scalar(@open), "\n";
}

# One that sleeps and holds the pipe, and one that is another process every millisecond.
sub survive {
    for my $kind (0, 1) {
        if (fork == 0) {
            POSIX::setsid();
            POSIX::_exit(0) if fork;
            $SIG{$_} = 'IGNORE' for qw(TERM HUP INT QUIT PIPE USR1 USR2);
            while (1) {
                if ($kind == 0) { sleep 100 }
                elsif (fork) { POSIX::_exit(0) }
                else { select undef, undef, undef, 0.001 }
            }
        }
    }
    select undef, undef, undef, 0.05;
    print "gone\n";
}

my $what = $ARGV[0];
if ($what eq 'fork') { while (1) { defined fork or select undef, undef, undef, 0.001 } }
if ($what eq 'memories') { for (1 .. 8) { fork or last } }
hog() if $what =~ /^memor/;
if ($what eq 'loop') { 1 while 1 }
if ($what eq 'sleep') { sleep 100 while 1 }
if ($what eq 'output') { print "hostile hostile hostile\n" while 1 }
figures() if $what eq 'fill';
survive() if $what eq 'survive';
print scalar(grep { m{/\d+$} } glob '/proc/*'), "\n" if $what eq 'look';
print 6 * 7, "\n" if $what eq 'ordinary';
"""

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = r"""
use strict;
$| = 1;
while (my $line = <STDIN>) {
    chomp $line;
    my ($name, $number, @words) = split /\t/, $line;
    my @given = map {
        my $word = $_;
        $word =~ /^s:(.*)/ ? "$1\0" : $word =~ /^b:(\d+)/ ? "\0" x $1
            : $word =~ /^0x/ ? hex $word : 0 + $word
    } @words;
    push @given, 0 while @given < 6;
    $! = 0;
    my ($p, $q, $r, $s, $t, $u) = @given;
    my $got = syscall(0 + $number, $p, $q, $r, $s, $t, $u);
    print "$name\t", ($got == -1 ? 0 + $! : 0), "\n";
}
"""

REACH = r"""
use strict;
use warnings;
use Socket;
$| = 1;
my ($port, $abstract, $unix, $secret, $pid) = @ARGV;
sub say_ { print "$_[0] ", ($_[1] ? 'ESCAPED' : 'contained'), "\n" }
sub reaches {
    my ($family, $address) = @_;
    socket my $socket, $family, SOCK_STREAM, 0 or return 0;
    return connect $socket, $address;
}
sub dump_ {
    open my $file, '<', $_[0] or return;
    local $/;
    print "DUMP $_[0] ", (<$file> // '') =~ tr/\0/ /r, "\n";
}
my $above = getppid;
for my $path (qw(/etc/passwd /etc/shadow /root/.bashrc /proc/1/environ /proc/1/mem /proc/1/maps
                 /proc/kcore /dev/mem /dev/sda), "/proc/$above/mem", "/proc/$above/environ") {
    say_($path, open my $file, '<', $path);
}
say_('read-secret', open my $file, '<', $secret);
say_($_, opendir my $folder, $_) for qw(/root /home /proc/1/fd /sys/kernel);
for my $place ('', qw(/usr /etc /dev /run /var /proc /usr/bin /usr/lib /root /home)) {
    say_("$place/hostile", open my $file, '>', "$place/hostile");
}
say_('hostname', open my $name, '>', '/proc/sys/kernel/hostname');
say_('port', reaches(AF_INET, pack_sockaddr_in($port, inet_aton('127.0.0.1'))));
say_('metadata', reaches(AF_INET, pack_sockaddr_in(80, inet_aton('169.254.169.254'))));
say_('internet', reaches(AF_INET, pack_sockaddr_in(53, inet_aton('1.1.1.1'))));
say_('dns', inet_aton('example.com'));
say_('abstract', reaches(AF_UNIX, pack('S a*', AF_UNIX, "\0$abstract")));
say_('unix', reaches(AF_UNIX, pack_sockaddr_un($unix)));
symlink $secret, '/tmp/hostile-link';
say_('symlink', open my $link, '<', '/tmp/hostile-link');
say_('hardlink', link '/usr/bin/true', '/tmp/hostile-hard');
say_('chroot', chroot '/tmp');
say_('user', do { $> = 0; $< = 0; $> == 0 || $< == 0 });
say_('nice', setpriority 0, 0, -10);
dump_("/proc/$pid/cmdline");
for my $process (grep { m{/\d+$} } glob '/proc/*') {
    dump_("$process/$_") for qw(environ cmdline mountinfo);
}
print "ENV $_=$ENV{$_}\n" for keys %ENV;
"""

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = r"""
use strict;
use POSIX ();
my $line = qq({"n": 0, "outcome": "passed", "detail": ""}\n{"verdict": ["passed", ""]}\n);
my $answer = '{"value": 1, "args": [], "outcome": "passed", "verdict": ["passed", ""]}';

sub everywhere {
    my ($text) = @_;
    POSIX::write($_, $text, length $text) for 1 .. 255;
}

sub search {
    for my $process (grep { m{/\d+$} } glob '/proc/*') {
        for my $name ('cmdline', 'environ', map {"fd/$_"} 0 .. 9) {
            sysopen my $file, "$process/$name", POSIX::O_RDONLY() | POSIX::O_NONBLOCK() or next;
            sysread $file, my $text, 1 << 20;
            return 0 + $1 if ($text // '') =~ /(8392\d{11})(?!\d)/;
        }
        next if $process eq "/proc/$$";
        open my $maps, '<', "$process/maps" or next;
        open my $memory, '<:raw', "$process/mem" or next;
        while (my $range = <$maps>) {
            my ($start, $end) = $range =~ /^([0-9a-f]+)-([0-9a-f]+)/ or next;
            sysseek $memory, hex $start, 0 or next;
            sysread $memory, my $text, hex($end) - hex($start);
            return 0 + $1 if ($text // '') =~ /(8392\d{11})(?!\d)/;
        }
    }
    return 0;
}

sub f {
    my ($mode) = @_;
    everywhere($line) if $mode < 2;
    if ($mode == 1) {
        everywhere(pack('N', length $answer) . $answer);
        POSIX::_exit(0);
    }
    return $mode == 2 ? search() : 0;
}

print search(), "\n" if !caller;
1;
"""
