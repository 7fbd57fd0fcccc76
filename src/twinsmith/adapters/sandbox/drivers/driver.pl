# Loads solution.pl and answers calls of its functions over two pipes.
#
# A frame is its length in four bytes, then JSON; see languages/language.py. JSON is read and
# written here because Perl's own module knows neither NaN nor exact floating numbers.
package Twinsmith::Driver;

use strict;
use warnings;
use B ();
use overload ();
use Scalar::Util ();

use constant DEEPEST => 1000;

my %ESCAPES = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
my %WORDS = (
    null => undef, true => 1, false => 0,
    NaN => 9**9**9 / 9**9**9, Infinity => 9**9**9, -Infinity => -9**9**9,
);

my $replies_fd  = pop @ARGV;
my $requests_fd = pop @ARGV;
open my $requests, '<&=', $requests_fd or die "requests: $!";
open my $replies, '>&=', $replies_fd or die "replies: $!";
binmode $_ for $requests, $replies;

my ($folder) = $0 =~ m{^(.*/)};
my $solution = ($folder // './') . 'solution.pl';
my %functions;
if (load()) {
    %functions = functions();
    reply({ functions => [ sort keys %functions ] });
    while (defined(my $body = receive())) {
        reply(answer($body));
    }
}
STDOUT->flush;

sub load {
    package main;
    local $@;
    local $_;
    do $solution;
    my $problem = $@;
    return 1 if !ref $problem && $problem eq '';
    my $broken = $problem =~ /syntax error|compilation (errors|failed|aborted)|BEGIN failed|Global symbol/i;
    Twinsmith::Driver::reply(Twinsmith::Driver::raised($problem, $broken ? 'SyntaxError' : ''));
    return 0;
}

# The subs of main, then those of the packages that the source names, by their bare names.
sub functions {
    my %found;
    open my $source, '<', $solution or return;
    my @packages = ('main', map { /^\s*package\s+([\w:]+)/ ? $1 : () } <$source>);
    for my $package (@packages) {
        no strict 'refs';
        for my $name (grep { /^[A-Za-z_]\w*$/ } keys %{"${package}::"}) {
            my $code = defined &{"${package}::$name"} ? \&{"${package}::$name"} : next;
            # What it imports is not its own.
            $found{$name} //= $code if B::svref_2object($code)->FILE eq $solution;
        }
    }
    return %found;
}

sub answer {
    my $request = parse(shift);
    return { raised => 'ValueError', message => 'the request cannot be read', where => '' }
        if ref $request ne 'HASH';
    my $code = $functions{ $request->{call} }
        or return { raised => 'NameError', message => "no function $request->{call}", where => '' };
    my @args = @{ $request->{args} };
    my @values;
    {
        local $@;
        local $_;
        my $done = eval { @values = $code->(@args); 1 };
        return raised($@, '') if !$done;
    }
    return { value => @values > 1 ? \@values : $values[0], args => \@args };
}

# What a program died of: the text, and the line if it is one of the program's.
sub raised {
    my ($problem, $kind) = @_;
    my $class = Scalar::Util::blessed($problem);
    my $message
        = $class && !overload::Method($problem, '""') && $problem->can('message')
        ? $problem->message
        : ref $problem && !$class ? write_json($problem, 0)
        :                           "$problem";
    my ($line) = $message =~ / at \Q$solution\E line (\d+)/;
    $message =~ s/ at \Q$solution\E line \d+(?:, <\w*> (?:line|chunk) \d+)?\.?\n?\z//;
    chomp $message;
    return {
        raised  => $kind || $class || 'died',
        message => $message,
        where   => defined $line ? " (line $line)" : '',
    };
}

sub receive {
    my ($head, $body);
    return if (read($requests, $head, 4) // 0) != 4;
    my $size = unpack 'N', $head;
    return if (read($requests, $body, $size) // 0) != $size;
    return $body;
}

sub reply {
    my ($message) = @_;
    my $body = eval { write_json($message, 0) }
        // write_json({ raised => 'TypeError', message => $@ =~ s/\n.*//sr, where => '' }, 0);
    utf8::encode($body);
    STDOUT->flush;
    STDERR->flush;
    print {$replies} pack('N', length $body), $body;
    $replies->flush;
}

sub write_json {
    my ($value, $depth) = @_;
    die "the value is nested too deeply\n" if $depth > DEEPEST;
    return 'null' if !defined $value;
    my $kind = Scalar::Util::reftype($value) // '';
    return '[' . join(',', map { write_json($_, $depth + 1) } @$value) . ']' if $kind eq 'ARRAY';
    return '{' . join(',', map { quote($_) . ':' . write_json($value->{$_}, $depth + 1) } sort keys %$value) . '}'
        if $kind eq 'HASH';
    if ($kind eq 'SCALAR' && Scalar::Util::blessed($value) && ref($value) =~ /Boolean/) {
        return $$value ? 'true' : 'false';
    }
    return write_json($$value, $depth + 1) if $kind eq 'SCALAR' || $kind eq 'REF';
    die "a value of type $kind cannot be shown\n" if $kind;
    return truth($value) // number($value) // quote($value);
}

# Perl's own false and true, where it can tell them from '' and 1.
sub truth {
    return if !defined &builtin::is_bool;
    no warnings;
    return builtin::is_bool($_[0]) ? ($_[0] ? 'true' : 'false') : undef;
}

sub number {
    my ($value) = @_;
    my $flags = B::svref_2object(\$value)->FLAGS;
    return if $flags & B::SVf_POK || !($flags & (B::SVf_IOK | B::SVf_NOK));
    return "$value" if $flags & B::SVf_IOK;
    return 'NaN' if $value != $value;
    return $value > 0 ? 'Infinity' : '-Infinity' if $value == 9**9**9 || $value == -9**9**9;
    for my $digits (15 .. 17) {
        my $text = sprintf "%.${digits}g", $value;
        return $text if $text == $value;
    }
}

sub quote {
    my ($text) = @_;
    # A literal of a source without "use utf8" is bytes.
    utf8::decode($text) if !utf8::is_utf8($text);
    $text =~ s/([\x00-\x1f"\\\x{d800}-\x{dfff}])/sprintf '\\u%04x', ord $1/ge;
    return qq("$text");
}

sub parse {
    my ($text) = @_;
    utf8::decode($text);
    my $value = eval { value(\$text, 0) };
    return $@ ? undef : $value;
}

sub value {
    my ($text, $depth) = @_;
    die "too deep\n" if $depth > DEEPEST;
    $$text =~ /\G\s+/gc;
    if ($$text =~ /\G\[\s*/gc) {
        my @items;
        return \@items if $$text =~ /\G\]/gc;
        while (1) {
            push @items, value($text, $depth + 1);
            return \@items if $$text =~ /\G\s*\]/gc;
            $$text =~ /\G\s*,/gc or die "unreadable\n";
        }
    }
    if ($$text =~ /\G\{\s*/gc) {
        my %fields;
        return \%fields if $$text =~ /\G\}/gc;
        while (1) {
            $$text =~ /\G\s*(?=")/gc or die "unreadable\n";
            my $name = value($text, $depth + 1);
            $$text =~ /\G\s*:/gc or die "unreadable\n";
            $fields{$name} = value($text, $depth + 1);
            return \%fields if $$text =~ /\G\s*\}/gc;
            $$text =~ /\G\s*,/gc or die "unreadable\n";
        }
    }
    return unquote($1) if $$text =~ /\G"((?:[^"\\]++|\\.)*+)"/gcs;
    return $WORDS{$1} if $$text =~ /\G(null|true|false|NaN|-?Infinity)/gc;
    return 0 + $1 if $$text =~ /\G(-?\d[\d.eE+-]*)/gc;
    die "unreadable\n";
}

sub unquote {
    my ($text) = @_;
    return $text if index($text, '\\') < 0;
    $text =~ s{\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)}
              {chr(0x10000 + ((hex($1) - 0xD800) << 10) + hex($2) - 0xDC00)}ge;
    $text =~ s{\\(?:u([0-9a-fA-F]{4})|(.))}{defined $1 ? chr hex $1 : $ESCAPES{$2} // $2}ges;
    return $text;
}
