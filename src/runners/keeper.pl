#!/usr/bin/perl
# Runs commands for the process runner. One long-lived spawner reads requests on its stdin; for each it forks a keeper,
# which connects to the server's socket, gets a command there, runs it, stays with it until nothing of it is left, and
# may then get another.
#
# Order. A write to stdout and a later one to stderr must be seen in that order, through two pipes. Each pipe is in
# packet mode and has room for one packet, so that a second write to it waits until the first was read; epoll, edge
# triggered, queues a pipe at the moment its packet arrives and answers the pipes in the order of their queueing. One
# read per event then sees the packets in the order in which they were written. A larger pipe, a level-triggered epoll or
# a second read would lose it.
#
# No survivors. The keeper is the subreaper of its command: whatever loses its parent becomes the keeper's child, in
# whatever group or session and with whatever environment. When it has no child, nothing is left. When the connection to
# the server breaks the keeper stops its command and goes, so nothing outlives the server. The spawner is a subreaper as
# well: should a keeper be killed, what it kept becomes the spawner's, and is ended there.
#
# Frames to the server: a letter, the length, the payload. H: hello; O and E: bytes of stdout and stderr; F: the command
# did not begin; X: it is gone. From the server: C with a command, S with milliseconds: stop it.
use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use POSIX qw(WNOHANG);
use Socket qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);
BEGIN { require((__FILE__ =~ m{^(.*/)})[0] . 'keeper-linux.pl') }

use constant {
    ONE_SLOT    => 4096,
    READ_BYTES  => 65536,     # more than a slot holds: the rest of a packet that is not read is lost
    FLUSH_BYTES => 32768,
    HIGH_BYTES  => 262144,    # kept for a server that does not read; above it the command has to wait
    FRAME_BYTES => 65536,
    LEFT_MS     => 2000,      # between TERM and KILL for what a command leaves behind
    AGAIN_MS    => 20,
};

# Ignored by spawner and keepers, because the server decides what becomes of commands; restored for the command.
my @signals = qw(HUP INT TERM QUIT PIPE USR1 USR2);

my ($secret, $path, $runner);    # of the server: what a keeper says and where, and whose they are
my $groups;                      # folder for control groups, where they can be had
my %keepers;

# ---- The spawner

sub spawner {
    @SIG{@signals} = ('IGNORE') x @signals;
    chdir '/';
    close_on_exec();
    my $requests = '';
    ($secret, $path, $runner) = map { next_line(\$requests) } 1 .. 3;
    $0 = "millrace spawner $runner";
    eval { make_slot(); 1 } or fatal("this system has no pipes with packets: $@");
    become_subreaper();
    clear_dead_groups();
    $groups = make_groups("millrace-$runner");
    my $children = watch_children();
    syswrite STDOUT, 'ready ' . ($groups // '') . "\n";

    my $is_open = 1;
    while ($is_open || %keepers) {
        my $ready = '';
        vec($ready, 0, 1) = 1 if $is_open;
        vec($ready, fileno $children, 1) = 1;
        next if select($ready, undef, undef, undef) <= 0;
        reap_keepers($children) if vec($ready, fileno $children, 1);
        next unless vec($ready, 0, 1);
        $is_open = 0 unless sysread STDIN, $requests, READ_BYTES, length $requests;
        fork_keeper($1) while $requests =~ s/\A(\d+)\n//;
    }
    rmdir $groups if defined $groups;
    POSIX::_exit(0);
}

sub fatal {
    syswrite STDOUT, "fatal @_\n";
    POSIX::_exit(1);
}

sub next_line {
    my ($buffer) = @_;
    while ($$buffer !~ /\n/) {
        POSIX::_exit(0) unless sysread STDIN, $$buffer, READ_BYTES, length $$buffer;
    }
    my ($line, $rest) = split /\n/, $$buffer, 2;
    $$buffer = $rest;
    return $line;
}

sub fork_keeper {
    my ($id) = @_;
    my $pid = fork;
    if (!defined $pid) {
        syswrite STDOUT, "failed $id " . ($! + 0) . "\n";
    } elsif ($pid == 0) {
        eval { keep($id) };
        POSIX::_exit($! + 0 || 1);
    } else {
        $keepers{$pid} = $id;
    }
}

sub reap_keepers {
    my ($children) = @_;
    sysread $children, my $ignored, 4096;
    my $has_died = 0;
    while ((my $pid = waitpid -1, WNOHANG) > 0) {
        my $id = delete $keepers{$pid};
        next unless defined $id && $? != 0;
        $has_died = 1;
        syswrite STDOUT, "failed $id " . ($? >> 8) . "\n";    # of interest when it did not even come to its hello
    }
    # What a keeper kept is this process's child now: all children that are no keepers, and what they started.
    my $strays = sub { descendants($$, \%keepers) };
    while ($has_died && $strays->()) {
        end_at_once($strays);
        while ((my $pid = waitpid -1, WNOHANG) > 0) { delete $keepers{$pid} }
        select undef, undef, undef, AGAIN_MS / 1000;
    }
}

# ---- A keeper

my ($id, $socket, $children, $epoll);
my ($buffer, $sent, $last_frame, $is_blocked) = ('', 0, undef, 0);    # to the server
my ($heard, $is_orphan) = ('', 0);                                    # from it
my $command;
# Of the command: its pipes, those with a packet in the order of its arrival, and where it says why it did not begin;
my (%pipes, @queue, $failure);
# its process, how that ended, and whether anything is left to come;
my ($main, $status, $has_none, $is_drained);
# whether and until when it may stop by itself; its control groups.
my ($is_stopping, $was_stopped, $deadline, @own_groups);

sub keep {
    ($id) = @_;
    $0 = "millrace keeper $runner";
    close STDIN;
    close STDOUT;
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    become_subreaper();
    socket $socket, AF_UNIX, SOCK_STREAM, 0 or die;
    connect $socket, pack_sockaddr_un($path) or die;
    syswrite $socket, frame('H', "$secret $id") or die;
    nonblocking($socket);
    $children = watch_children();
    $epoll = open_epoll();
    watch($epoll, $socket,   0, EPOLL_IN);
    watch($epoll, $children, 3, EPOLL_IN);
    until ($is_orphan) {
        look() until $command || $is_orphan;
        run() if $command;
    }
    POSIX::_exit(0);
}

sub run {
    (%pipes, @queue) = ();
    ($main, $status, $has_none, $is_drained) = (0, undef, 0, 0);
    ($is_stopping, $was_stopped, $deadline) = (0, 0, undef);
    $0 = "millrace keeper $runner $command->{marker}";
    eval { start_command(); 1 } or refuse('keeper');
    obey();
    look() until is_over();
    rmdir $_ for @own_groups;
    $command = undef;
    $0 = "millrace keeper $runner";
}

sub decode_command {
    my ($marker, $cwd, $umask, $grace, @rest) = unpack '(N/a*)*', $_[0];
    my @limits = splice @rest, 0, 5;
    my $words = shift @rest;
    my @argv = splice @rest, 0, $words;
    return {
        marker => $marker, cwd => $cwd, umask => $umask, grace_ms => $grace, limits => \@limits, argv => \@argv,
        env => {@rest},
    };
}

sub refuse {
    $failure = [$! + 0, @_];
    ($status, $has_none) = (0, 1);
}

# A pipe that holds one packet.
sub make_slot {
    my ($read, $write) = make_pipe(packets());
    fcntl $read, SET_PIPE_SIZE, ONE_SLOT or die "$!";
    nonblocking($read);
    return ($read, $write);
}

sub start_command {
    my @writes = (undef);
    for my $stream (1, 2) {
        ($pipes{$stream}, $writes[$stream]) = make_slot();
        watch($epoll, $pipes{$stream}, $stream, EPOLL_IN | EPOLL_EDGE);
    }
    ($failure, my $failure_write) = make_pipe(0);
    my ($memory, undef, $processes) = @{ $command->{limits} };
    @own_groups = make_own_groups($groups, "millrace-$runner", $id, { memory => $memory, pids => $processes });
    # A signal that comes before the child has its own handlers must wait for them: they ignore it here.
    my $before = POSIX::SigSet->new;
    POSIX::sigprocmask(POSIX::SIG_BLOCK, POSIX::SigSet->new(map { POSIX->can("SIG$_")->() } @signals), $before);
    $main = fork;
    if    (!defined $main) { refuse('fork') }
    elsif ($main == 0)     { become_command(\@writes, $failure_write) }
    POSIX::sigprocmask(POSIX::SIG_SETMASK, $before);
    close $_ for $failure_write, @writes[1, 2];
}

# In the child; returns never.
sub become_command {
    my ($writes, $failure_write) = @_;
    my $fail = sub { syswrite $failure_write, pack 'Na*', $! + 0, $_[0]; POSIX::_exit(127) };
    POSIX::setsid();
    join_group($_) for @own_groups;
    umask $command->{umask};
    chdir $command->{cwd} or $fail->('cwd');
    POSIX::dup2(fileno $writes->[$_], $_) // $fail->('output') for 1, 2;
    @SIG{@signals} = ('DEFAULT') x @signals;
    POSIX::sigprocmask(POSIX::SIG_SETMASK, POSIX::SigSet->new);
    my ($memory, $cpu, $processes, $files, $size) = @{ $command->{limits} };
    limit_address_space($memory) unless grep { is_limited($_, 'memory') } @own_groups;
    limit_processes($processes)  unless grep { is_limited($_, 'pids') } @own_groups;
    limit_cpu_time($cpu);
    limit_open_files($files);
    limit_file_size($size);
    %ENV = %{ $command->{env} };
    no warnings 'exec';
    exec { $command->{argv}[0] } @{ $command->{argv} };
    $fail->('program');
}

# ---- Its loop

sub look {
    my ($count, @events) = wait_for($epoll, how_long());
    while (my ($what, $from) = splice @events, 0, 2) {
        if    ($from == 0) { hear($what) }
        elsif ($from == 3) { sysread $children, my $ignored, 4096; reap() if $command }
        else               { push @queue, [$from, $what & EPOLL_HUP] }
    }
    take(@{ shift @queue }) while @queue && has_room();
    flush_frames() if !$is_blocked && ($count <= 0 || length($buffer) - $sent >= FLUSH_BYTES);
    $is_drained = $has_none && $count == 0 && !@queue;
    kill_rest() if $is_stopping && !$has_none && now_ms() >= $deadline;
}

sub has_room { return $is_orphan || length($buffer) - $sent < HIGH_BYTES }

sub how_long {
    return 0 if @queue && has_room() or $sent < length $buffer && !$is_blocked or $has_none && !$is_drained && !@queue;
    return -1 if !$is_stopping || $has_none;
    my $left = $deadline - now_ms();
    return $left > 0 ? $left : 0;
}

# Over when nothing is left of the command, the pipes are empty, and the server has it all or is gone.
sub is_over {
    return 0 unless $is_drained;
    if (defined $failure) {
        take($_, 1) for 1, 2;    # of writers that are not of the command, such as a service it handed the pipe to
        conclude();
        $failure = undef;
        flush_frames();
    }
    return $is_orphan || $sent == length $buffer;
}

sub conclude {
    my $said = ref $failure eq 'ARRAY' ? pack 'Na*', @$failure : '';
    sysread $failure, $said, 4096 if $said eq '';    # its other end was closed with the command
    return append('F', $said) if length $said;
    append('X', pack 'NCC', $status, $was_stopped, scalar grep { ran_out_of_memory($_) } @own_groups);
}

# Reads one packet, or, when nobody can write any more, what there is.
sub take {
    my ($stream, $is_last) = @_;
    my $pipe = $pipes{$stream} or return;
    my $type = $stream == 1 ? 'O' : 'E';
    do {
        my $end = length $buffer;
        my $goes_on = defined $last_frame && $end - $last_frame < FRAME_BYTES && substr($buffer, $last_frame, 1) eq $type;
        $buffer .= "$type\0\0\0\0" unless $goes_on;
        my $read = sysread $pipe, $buffer, READ_BYTES, length $buffer;
        if (!$read) {
            substr($buffer, $end) = '';
            delete $pipes{$stream} if defined $read;
            return;
        }
        $last_frame = $end unless $goes_on;
        substr($buffer, $last_frame + 1, 4) = pack 'N', length($buffer) - $last_frame - 5;
        forget_frames() if $is_orphan;
    } while ($is_last);
}

# ---- The server

sub frame { return pack 'aN/a*', @_ }

sub append {
    $buffer .= frame(@_);
    $last_frame = undef;
}

sub forget_frames { ($buffer, $sent, $last_frame) = ('', 0, undef) }

sub flush_frames {
    return forget_frames() if $is_orphan;
    $last_frame = undef;
    while ($sent < length $buffer) {
        my $written = syswrite $socket, $buffer, length($buffer) - $sent, $sent;
        if (defined $written) { $sent += $written; next }
        next if $! == EINTR;
        return lose_server() unless $! == EAGAIN;
        $is_blocked = 1;
        return watch($epoll, $socket, 0, EPOLL_IN | EPOLL_OUT, EPOLL_CHANGE);
    }
    forget_frames();
}

sub hear {
    my ($what) = @_;
    return if $is_orphan;
    if ($is_blocked && $what & ~EPOLL_IN) {
        $is_blocked = 0;
        watch($epoll, $socket, 0, EPOLL_IN, EPOLL_CHANGE);
    }
    return unless $what & ~EPOLL_OUT;
    my $read = sysread $socket, $heard, READ_BYTES, length $heard;
    return if !defined $read && ($! == EAGAIN || $! == EINTR);
    return lose_server() unless $read;
    obey();
}

# What was heard up to a command, which then begins; the rest is heard after that.
sub obey {
    while ($heard =~ /\A([CS])(.{4})/s) {
        my ($type, $number) = ($1, unpack 'N', $2);
        if ($type eq 'C') {
            return if $command || length $heard < 5 + $number;
            $command = decode_command(substr $heard, 5, $number);
            substr($heard, 0, 5 + $number) = '';
            return;
        }
        substr($heard, 0, 5) = '';
        next unless $command;    # it ended while it was asked to
        $was_stopped = 1 unless defined $status;
        stop($number);
    }
}

sub lose_server {
    $is_orphan = 1;
    close $socket;
    forget_frames();
    stop($command->{grace_ms}) if $command;
}

# ---- Ending

sub reap {
    my $pid;
    while (($pid = waitpid -1, WNOHANG) > 0) {
        $status = $? if $pid == $main;
    }
    $has_none = $pid < 0;
    my $grace = $command->{grace_ms} < LEFT_MS ? $command->{grace_ms} : LEFT_MS;
    stop($grace) if defined $status && !$has_none && !$is_stopping;
}

sub stop {
    my ($grace) = @_;
    my $until = now_ms() + $grace;
    $deadline = $until if !defined $deadline || $until < $deadline;
    return if $is_stopping || $has_none;
    $is_stopping = 1;
    my @all = descendants($$);
    kill TERM => @all;
    kill CONT => @all;    # a stopped process hears nothing else
}

sub kill_rest {
    kill_group($_) for @own_groups;
    end_at_once(sub { descendants($$) });
    reap();
    $deadline = now_ms() + AGAIN_MS;
}

# Processes that go on forking while they are killed are frozen first: what stands still does not fork.
sub end_at_once {
    my ($find) = @_;
    my %frozen;
    for (1 .. 50) {
        my @fresh = grep { !$frozen{$_}++ } $find->() or last;
        kill STOP => @fresh;
    }
    kill KILL => keys %frozen;
}

spawner();
